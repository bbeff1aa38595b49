import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import type { TestService } from '../app.js';

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

export type Parameters = Readonly<Record<string, string>>;

export const TOKEN_PATH = '/idm/ims/connect/token';

export function basic({ clientId, clientSecret }: Credentials): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
}

/** Posts a form to an endpoint other than the token endpoint. */
export function post(
  { app }: TestService,
  endpoint: 'token' | 'revoke' | 'introspect',
  client: Credentials | undefined,
  parameters: Parameters | string,
  more: InjectOptions = {},
): Promise<LightMyRequestResponse> {
  return app.inject({
    method: 'POST',
    url: `/idm/ims/connect/${endpoint}`,
    payload: typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString(),
    ...more,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(client === undefined ? {} : { authorization: basic(client) }),
      ...more.headers,
    },
  });
}

export const clientGrant = { grant_type: 'client_credentials', scope: 'core_read' };

export const userGrant = (username: string, password: string): Parameters => ({
  grant_type: 'password',
  scope: 'core_read',
  username,
  password,
});

/** A token that the client requests in the usual way. */
export async function tokenOf(
  service: TestService,
  client: Credentials,
  parameters: Parameters = clientGrant,
): Promise<string> {
  const answer = await post(service, 'token', client, parameters);
  if (answer.statusCode !== 200) throw new Error(`no token: ${answer.body}`);
  return answer.json().access_token;
}

/** The status of a request for readers with the token. */
export async function statusWith({ app }: TestService, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await app.inject({ url: '/core/timeseries', headers })).statusCode;
}
