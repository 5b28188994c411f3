import { UPSTREAM_FACES, upstreamFaceOf, type UpstreamFace } from '../../core/contract/upstreamFaces';
import type { Contract, SqlDialect } from '../../core/contract/schema';
import { upstreamAccess } from '../../core/upstream/access';
import {
  consumersIn,
  forConsumer,
  forTest,
  type ConsumersUpstreamCredential,
} from '../../core/upstream/consumerSecret';
import { s3Access, type S3Credential } from '../../core/upstream/s3Access';
import { databaseAccess, type DatabaseCredential } from '../../core/upstream/sqlAccess';
import { OperatorError } from '../operator/error';
import type { OperatorSurface } from '../operator/schema';
import { describedUpstream, settingLines, type DescribedUpstream } from './describedUpstream';

/** What n8n holds for the upstream of a surface: of one of three credential types. */
export type UpstreamData =
  | (Omit<ConsumersUpstreamCredential, 'authentication'> & {
      readonly authentication: string;
      readonly testPath: string;
    })
  | S3Credential
  | DatabaseCredential;

export type UpstreamType = UpstreamFace['credential'];

/** Every type that an upstream credential of ours can have. */
export const UPSTREAM_TYPES: readonly UpstreamType[] = Object.values(UPSTREAM_FACES).map(
  ({ credential }) => credential,
);

export const upstreamTypeOf = ({ adapter }: Contract): UpstreamType => upstreamFaceOf(adapter).credential;

type Upstream = OperatorSurface['upstream'];
type S3Upstream = Extract<Upstream, { authentication: 's3' }>;
type DatabaseUpstream = Extract<Upstream, { authentication: 'database' }>;

/**
 * What the operator file says of an upstream, in the form in which the ledger shows it. A store has its parameters in
 * the query of its address.
 *
 * @throws OperatorError `operator_file_invalid` where the contract needs another kind of upstream
 */
export function describe(upstream: Upstream, contract: Contract): DescribedUpstream {
  const { application_id: id, adapter } = contract;
  if (adapter.type === 'n8n_workflow') throw byHand(id);
  const wanted = adapter.type === 's3_prefix' ? 's3' : adapter.type === 'named_query' ? 'database' : 'web';
  switch (upstream.authentication) {
    case 's3':
      if (wanted !== 's3') throw other(id, wanted);
      return describedS3(upstream);
    case 'database':
      if (adapter.type !== 'named_query') throw other(id, wanted);
      return describedDatabase(upstream, contract, adapter.dialect);
    default:
      if (wanted !== 'web') throw other(id, wanted);
      return describedUpstream(upstream, contract);
  }
}

function byHand(id: string): OperatorError {
  return new OperatorError(
    'operator_file_invalid',
    `${id} uses a credential that a person makes in the editor of n8n: import workflows/${id}/workflow.json there.`,
  );
}

function other(id: string, wanted: string): OperatorError {
  const kind = wanted === 'web' ? 'one of an application that is asked over HTTP' : wanted;
  return new OperatorError(
    'operator_file_invalid',
    `${id}: the authentication of its upstream must be ${kind}, as its contract needs.`,
  );
}

function describedS3(upstream: S3Upstream): DescribedUpstream {
  const url = new URL(upstream.endpoint);
  url.search = new URLSearchParams({
    region: upstream.region,
    path_style: String(upstream.path_style),
  }).toString();
  return {
    base_url: url.href,
    authentication: 's3',
    name: upstream.access_key_id,
    settings: upstream.locations.join('\n'),
    test_path: '',
  };
}

function describedDatabase(
  upstream: DatabaseUpstream,
  contract: Contract,
  dialect: SqlDialect,
): DescribedUpstream {
  const { host, port, database, tls, ca_certificate: ca } = upstream;
  const query = new URLSearchParams({ tls, ...(ca === undefined ? {} : { ca }) });
  const address = `${dialect}://${host}:${String(port ?? PORTS[dialect])}/${encodeURIComponent(database)}`;
  return {
    base_url: `${address}?${query.toString()}`,
    authentication: 'database',
    name: upstream.user,
    settings: settingLines(upstream.settings, contract),
    test_path: '',
  };
}

const PORTS: Record<SqlDialect, number> = { postgresql: 5_432, mariadb: 3_306 };

/**
 * The credential of an upstream, from what the ledger shows of it and the secret: the same for the same, so that a
 * second run has nothing to write.
 *
 * @param consumerSecrets JSON text of the secrets by consumer, where there are some
 */
export function upstreamData(
  described: DescribedUpstream,
  secret: string,
  consumerSecrets?: string,
): UpstreamData {
  const { base_url: address, authentication, name, settings, test_path: testPath } = described;
  if (authentication === 's3') {
    const url = new URL(address);
    return {
      endpoint: url.origin,
      region: url.searchParams.get('region') ?? '',
      pathStyle: url.searchParams.get('path_style') !== 'false',
      accessKeyId: name,
      secretAccessKey: secret,
      locations: settings,
    };
  }
  if (authentication === 'database') {
    const [, dialect = '', host = '', port = '', database = '', query = ''] = DATABASE.exec(address) ?? [];
    const parameters = new URLSearchParams(query);
    return {
      dialect: dialect as SqlDialect,
      host,
      port: Number(port),
      database: decodeURIComponent(database),
      user: name,
      password: secret,
      tls: parameters.get('tls') === 'disable' ? 'disable' : 'verify',
      caPem: parameters.get('ca') ?? '',
      settings,
    };
  }
  const own = consumerSecrets === undefined ? {} : { consumerSecrets };
  return { baseUrl: address, authentication, name, secret, settings, testPath, ...own };
}

const DATABASE = /^([a-z]+):\/\/(.+):(\d+)\/([^?]*)\?(.*)$/;

/** The one secret in a credential. */
export function secretIn(data: UpstreamData): string {
  if ('accessKeyId' in data) return data.secretAccessKey;
  return 'dialect' in data ? data.password : (data.secret ?? '');
}

/** The secrets by consumer in a credential; `undefined` where there are none. */
export function consumerSecretsIn(data: UpstreamData): string | undefined {
  return 'consumerSecrets' in data ? data.consumerSecrets : undefined;
}

/** @throws PolicyError `credential_missing` for what the tools could not use */
export function refuseUnusable(data: UpstreamData): void {
  if ('accessKeyId' in data) s3Access(data);
  else if ('dialect' in data) databaseAccess(data);
  else {
    const credential = data as ConsumersUpstreamCredential;
    upstreamAccess(forTest(credential));
    for (const id of consumersIn(credential)) upstreamAccess(forConsumer(credential, id));
  }
}
