import { PolicyError } from '../policy/errors';
import type { DatabaseAccess } from './sqlAccess';
import { sqlFailure } from './sqlFailure';
import type { SqlPools } from './sqlPools';
import { serverUnreachable } from './unreachable';

const SECONDS = 15;
const BYTES = 1_048_576;

/**
 * Whether a database can be reached by a principal that only reads. For the connection test of a credential.
 *
 * @returns a sentence about what works
 * @throws PolicyError
 */
export async function checkDatabase(access: DatabaseAccess, pools: SqlPools): Promise<string> {
  const signal = AbortSignal.timeout(SECONDS * 1_000);
  const bounds = { rows: 1, bytes: BYTES, seconds: SECONDS };
  try {
    await pools.with(access, 1, signal, async (connection) => {
      await connection.select({ text: 'SELECT 1 AS one', values: [] }, bounds);
    });
  } catch (error) {
    const failure = sqlFailure(error);
    throw failure instanceof PolicyError ? failure : serverUnreachable(error);
  }
  return 'Connection successful. The user can only read.';
}
