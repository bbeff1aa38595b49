import { WindrowError } from '../../core/errors.js';
import { IDENTITY_SHARD } from '../../storage/shard.js';
import { equal, writeReserved } from '../../storage/storage.js';
import { tokens, users } from '../../storage/tables/identity.js';
import { type AdministrationContext, checkName, expected, type OfOrganisation } from './names.js';
import { fixGroupCount } from './organisations.js';
import { isPasswordHash } from './passwords.js';
import { unlock, userSubject } from './throttle.js';

export interface UserName {
  readonly organisation: string;
  readonly username: string;
}

export interface NewUser extends UserName {
  /** From `Passwords.hash`. */
  readonly passwordHash: string;
}

export async function addUser(context: AdministrationContext, user: NewUser): Promise<void> {
  const { storage, clock } = context;
  const { passwordHash } = user;
  const organisation = checkName('organisation', user.organisation);
  // The token endpoint looks users up by the NFC form.
  const username = checkName('username', user.username).normalize('NFC');
  if (!isPasswordHash(passwordHash)) throw expected('passwordHash', 'an scrypt hash', 'other text');
  await fixGroupCount(context, organisation);
  await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    if ((await tx.get(users, { organisation, username })) !== undefined) {
      const mend = 'to change the password, remove the user first';
      throw new WindrowError('identity.exists', `${organisation} already has a user ${username}; ${mend}`);
    }
    await tx.insert(users, { organisation, username, passwordHash, createdMs: Math.floor(clock.nowMs()) });
  });
}

export async function listUsers({ storage }: AdministrationContext, { organisation }: OfOrganisation) {
  const where = organisation === undefined ? [] : equal({ organisation });
  const rows = await storage.read(IDENTITY_SHARD, (tx) => tx.find(users, { where }));
  return rows.map(({ organisation, username, createdMs }) => ({ organisation, username, createdMs }));
}

/** Clears the failures counted for the user, and for the address if given, so that the user may log in at once. */
export async function unlockUser(
  { storage }: AdministrationContext,
  { organisation, username, address }: UserName & { readonly address?: string },
): Promise<void> {
  await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    const user = await tx.get(users, { organisation, username: username.normalize('NFC') });
    if (user === undefined) throw noUser(organisation, username);
    await unlock(tx, userSubject(organisation, username), address);
  });
}

function noUser(organisation: string, username: string): WindrowError {
  const mend = '`windrow user list` shows the names';
  return new WindrowError('identity.missing', `${organisation} has no user ${username}; ${mend}`);
}

/** Also revokes the tokens that were issued for the user's password. */
export async function removeUser({ storage }: AdministrationContext, user: UserName): Promise<void> {
  const { organisation } = user;
  const username = user.username.normalize('NFC');
  const where = equal({ organisation, username });
  await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    const removedCount = await tx.delete(users, where);
    if (removedCount === 0) throw noUser(organisation, username);
    await tx.delete(tokens, where);
  });
}
