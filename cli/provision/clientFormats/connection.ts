import type { Pair, SecretPlace } from '../discover';

/** An accepted pair with what a client's configuration shows of it. */
export interface Connection extends Pair {
  /** The application as people call it. */
  readonly title: string;
  /** What the server tells a client about itself. */
  readonly instructions: string;
  /** `<owner>:<application_id>`: marks what is managed wherever a name is free. */
  readonly managedName: string;
  /** Names of the tools that the consumer may call. */
  readonly toolNames: readonly string[];
  /** The bearer itself; only with `--reveal`. */
  readonly token: string | undefined;
}

/** How a kind of client is configured. */
export interface ClientFormat {
  /** Whose bearer is used when `--consumer` names nobody; `undefined` for a format that shows all of them. */
  readonly consumer: string | undefined;
  /** How the client refers to a secret; `undefined` where it does not resolve such a reference by itself. */
  readonly reference: (place: SecretPlace) => string | undefined;
  /** The configuration as a JSON value. */
  readonly render: (connections: readonly Connection[], secretOf: (of: Connection) => string) => object;
  /** The configuration as the client reads it; JSON if absent. */
  readonly text?: (configuration: object) => string;
}

/** A reference that whoever deploys the configuration has to resolve. */
export function neutralReference(place: SecretPlace): string {
  switch (place.kind) {
    case 'env':
      return `\${env:${place.name}}`;
    case 'file':
      return `\${file:${place.path}}`;
    case 'held_by_client':
      return `\${bearer:${place.consumer}}`;
  }
}

/** For clients that take a secret as it is. */
export const NO_REFERENCE = (): undefined => undefined;

/** `${env:NAME}`, and nothing for secrets in files. */
export const environmentReference = (place: SecretPlace): string | undefined =>
  place.kind === 'env' ? `\${env:${place.name}}` : undefined;
