/** Severities of RFC 5424 in the words of MCP, from the least to the most severe. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a tool may tell its caller while it works. Data only: it crosses from one bundle to another. */
export type CallReport =
  | {
      readonly kind: 'progress';
      /** Larger than the one before. */
      readonly progress: number;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      /** Any JSON value. */
      readonly data: unknown;
      readonly logger?: string | undefined;
    };

/** Takes a report and returns at once. It never throws, and may drop what nobody asked for. */
export type Reporter = (report: CallReport) => void;

export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
