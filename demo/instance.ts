import { instanceAddress, N8nApiError } from '../cli/n8n/publicApi';

/** An n8n to show the pack in. */
export interface Instance {
  readonly url: string;
  readonly apiKey: string;
  readonly login: string | undefined;
  /** Whether it is ours and goes away as a whole, so that nothing has to be removed from it. */
  readonly disposable: boolean;
  stop(): Promise<void>;
}

/** The n8n of `--n8n`. @throws Error a sentence about what is missing */
export function existingInstance(address: string, apiKey = process.env['N8N_API_KEY']): Instance {
  if (apiKey === undefined || apiKey === '') {
    throw new Error('Set N8N_API_KEY to an API key of that n8n (Settings, n8n API) and run the demo again.');
  }
  return {
    url: addressOf(address),
    apiKey,
    login: undefined,
    disposable: false,
    stop: () => Promise.resolve(),
  };
}

function addressOf(given: string): string {
  try {
    return instanceAddress(given);
  } catch {
    throw new Error('--n8n must be an http or https address such as https://n8n.example.com.');
  }
}

/** What went wrong, as one sentence to act on. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The demo failed.';
  return error instanceof N8nApiError && error.status === 401
    ? `${error.message}; check N8N_API_KEY`
    : error.message;
}
