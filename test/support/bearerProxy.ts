import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer } from './loopback';

export interface BearerProxy {
  /** `http://localhost:<port>`: what stands in `Host` and `Origin` of what goes through. */
  readonly origin: string;
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A reverse proxy for clients that know no bearer: it adds one, and passes everything else on as it came, `Host` and
 * `Origin` included.
 *
 * @param under path under which the proxy serves the target, such as `/somewhere/mcp`
 */
export async function startBearerProxy(
  target: string,
  bearer: () => string,
  under = '/mcp',
): Promise<BearerProxy> {
  const { hostname, port, pathname } = new URL(target);
  const server = createServer((inbound, outbound) => {
    const path = (inbound.url ?? '').replace(under, pathname);
    const outgoing = httpRequest({
      hostname,
      port,
      path,
      method: inbound.method,
      headers: { ...inbound.headers, authorization: `Bearer ${bearer()}` },
      agent: false,
    });
    outgoing.once('response', (answer) => {
      outbound.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outbound);
      answer.once('error', () => outbound.destroy());
    });
    outgoing.once('error', () => outbound.destroy());
    // A client that goes away takes its request along.
    outbound.once('close', () => outgoing.destroy());
    inbound.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
  return {
    origin,
    url: `${origin}${under}`,
    stop: async () => {
      await closeServer(server);
    },
  };
}
