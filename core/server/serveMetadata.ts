import { PolicyError, toPolicyError, type ErrorCode } from '../policy/errors';
import type { InboundRequest } from './inbound';
import type { Issuer } from './issuer';
import { metadataAnswer, noMetadata } from './metadata';
import { checkHosting, type HostingRules } from './origin';
import { refusalAnswer, type OutboundAnswer } from './outbound';
import { beginRecord, type RequestFacts } from './record';
import type { Endpoint, Served } from './serve';
import type { ServedSurface } from './tools';

/** What is known of the endpoint whose metadata is asked for. */
export interface DescribedEndpoint
  extends HostingRules, Pick<Endpoint, 'applicationId' | 'takeUndelivered' | 'now'> {
  /** The address of the endpoint as clients know it; `undefined` when nobody has said it. */
  resource(): string | undefined;
  /** `undefined` where bearers are handed out by the operator. */
  issuer(): Promise<Issuer | undefined>;
  surface(): ServedSurface;
}

/** Nobody is asked who he is. */
const UNIDENTIFIED: RequestFacts = {
  isCall: false,
  consumer: null,
  tool: undefined,
  credentialSubject: null,
};

/** Answers a request for the metadata of an endpoint (RFC 9728). Needs no bearer. Never throws. */
export async function serveMetadata(request: InboundRequest, endpoint: DescribedEndpoint): Promise<Served> {
  const record = beginRecord(request, endpoint);
  const finish = (answer: OutboundAnswer, code: 'ok' | ErrorCode, cause: unknown): Served =>
    record.finish(answer, code, cause, UNIDENTIFIED);
  try {
    checkHosting(request, endpoint);
    const issuer = await endpoint.issuer();
    if (!issuer) throw noMetadata();
    const resource = endpoint.resource();
    if (resource === undefined) {
      throw new PolicyError('surface_unconfigured', 'Public Address is not an address.');
    }
    return finish(metadataAnswer(resource, issuer, endpoint.surface()), 'ok', undefined);
  } catch (thrown) {
    const error = toPolicyError(thrown, 'internal_error', 'The request failed inside the server.');
    const shown =
      error.code === 'surface_unconfigured'
        ? new PolicyError('surface_unconfigured', 'This surface is not set up correctly.')
        : error;
    return finish(refusalAnswer(shown, null), error.code, shown === error ? error.cause : error);
  }
}
