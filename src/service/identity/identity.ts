import type { ServiceContext } from '../context.js';
import { createIssuer } from '../token/issue.js';
import { Authenticator } from '../token/tokens.js';
import { createAdministration } from './administration.js';
import { createPasswords, type PasswordOptions } from './passwords.js';
import type { UserName } from './users.js';

export type Identity = ReturnType<typeof createIdentity>;

export function createIdentity(
  context: Pick<ServiceContext, 'storage' | 'clock' | 'random' | 'settings'>,
  passwordOptions: PasswordOptions = {},
) {
  const passwords = createPasswords(context.random, passwordOptions);
  const authenticator = new Authenticator(context);
  const administration = createAdministration(context);
  return Object.freeze({
    authenticate: (token: string) => authenticator.authenticate(token),
    administration,
    /** `administration.addUser`, given the password instead of its hash. */
    addUser: async ({ password, ...user }: UserName & { readonly password: string }) =>
      administration.addUser({ ...user, passwordHash: await passwords.hash(password) }),
    tokens: { authenticator, issuer: createIssuer(context, passwords) },
  });
}
