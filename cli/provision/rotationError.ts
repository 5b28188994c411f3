/** A rotation that stopped: a stable code, and one sentence that says what still works. */
export class RotationError extends Error {
  constructor(
    readonly code:
      | 'surface_disabled'
      | 'consumer_unknown'
      | 'rotation_needs_file'
      | 'next_secret_missing'
      | 'new_bearer_refused'
      | 'old_bearer_alive'
      | 'new_secret_refused'
      | 'nothing_to_prove_with'
      | 'apply_failed',
    message: string,
  ) {
    super(message);
    this.name = 'RotationError';
  }
}
