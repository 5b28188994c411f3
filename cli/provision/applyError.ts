/** A fault of one surface, found while it was applied: a stable code, and one sentence to act on. */
export class ApplyError extends Error {
  constructor(
    readonly code:
      | 'path_taken'
      | 'not_active'
      | 'not_published'
      | 'not_served'
      | 'still_served'
      | 'endpoint_unreachable'
      | 'duplicate_resource',
    message: string,
  ) {
    super(message);
    this.name = 'ApplyError';
  }
}
