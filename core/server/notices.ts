import type { ServerContext } from '@modelcontextprotocol/server';
import { utf8Bytes } from '../policy/limits';
import { isLogLevel, LOG_LEVELS, type CallReport, type Reporter } from '../policy/report';

/** `_meta` key of the 2026-07-28 revision by which a request asks for log messages. */
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
/** What a 2025-era caller gets that has said nothing, and of which nothing is remembered between requests. */
const LEGACY_LEVEL = 'info';

export interface NoticeSettings {
  readonly era: 'legacy' | 'modern';
  /** Whether log messages are a capability of this surface. */
  readonly logs: boolean;
  /** Most bytes of all notices of one call. What is beyond is dropped: notices are lossy, results are not. */
  readonly bytes: number;
}

/**
 * Hands what a tool tells on to its caller: progress where the request carries a token, log messages from the level on
 * that it asks for.
 *
 * @returns `undefined` where the caller has asked for neither
 */
export function reporterOf(
  context: Pick<ServerContext, 'mcpReq'>,
  settings: NoticeSettings,
): Reporter | undefined {
  const token = context.mcpReq._meta?.progressToken;
  const level = settings.logs ? levelOf(context, settings.era) : undefined;
  if (token === undefined && level === undefined) return undefined;
  let left = settings.bytes;
  let reached = -Infinity;
  const notify = (method: string, params: Record<string, unknown>) => {
    left -= utf8Bytes(JSON.stringify(params));
    if (left < 0) return;
    void context.mcpReq.notify({ method, params }).catch(() => undefined);
  };
  return (report: CallReport) => {
    if (report.kind === 'log') {
      if (level !== undefined && severity(report.level) >= severity(level)) {
        const { level: own, data, logger } = report;
        notify('notifications/message', { level: own, data, ...(logger === undefined ? {} : { logger }) });
      }
      return;
    }
    const { progress, total, message } = report;
    // MCP wants it to grow; a client that is told otherwise may give the call up.
    if (token === undefined || !Number.isFinite(progress) || progress <= reached) return;
    reached = progress;
    notify('notifications/progress', {
      progressToken: token,
      progress,
      ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  };
}

function levelOf(
  { mcpReq }: Pick<ServerContext, 'mcpReq'>,
  era: NoticeSettings['era'],
): (typeof LOG_LEVELS)[number] | undefined {
  if (era === 'legacy') return LEGACY_LEVEL;
  const asked: unknown = (mcpReq.envelope as Record<string, unknown> | undefined)?.[LOG_LEVEL_KEY];
  return isLogLevel(asked) ? asked : undefined;
}

function severity(level: (typeof LOG_LEVELS)[number]): number {
  return LOG_LEVELS.indexOf(level);
}
