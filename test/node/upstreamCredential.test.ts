import { randomBytes } from 'node:crypto';
import { McpUpstreamApi } from '../../credentials/McpUpstreamApi.credentials';

const secret = randomBytes(16).toString('hex');
const credential = { baseUrl: 'https://app.example.com/sub', authentication: 'bearer', name: '', secret };

describe('an upstream credential that another node uses', () => {
  test.each([
    [{ url: 'https://app.example.com/other' }],
    [{ url: '/status', baseURL: 'https://app.example.com/sub' }],
    [{ url: 'status' }],
  ])('authenticates a request to its own address: %j', async (options) => {
    const { headers } = await new McpUpstreamApi().authenticate(credential, options);
    expect(headers).toEqual({ authorization: `Bearer ${secret}` });
  });

  test.each([
    [{ url: 'https://evil.example/' }],
    [{ url: '//evil.example/' }],
    [{ url: 'http://app.example.com/' }],
    [{ url: '/', baseURL: 'https://evil.example' }],
  ])('is sent nowhere else: %j', async (options) => {
    await expect(new McpUpstreamApi().authenticate(credential, options)).rejects.toThrow(
      'its own base address only',
    );
  });
});
