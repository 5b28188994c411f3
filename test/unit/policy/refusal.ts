import { PolicyError } from '../../../core/policy/errors';

/** The refusal that `attempt` has to end in; success, or anything else that is thrown, fails the test. */
export function refusalOf(attempt: () => unknown): PolicyError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}
