export type OperatorErrorCode =
  | 'operator_file_unreadable'
  | 'operator_file_invalid'
  | 'application_unknown'
  | 'consumer_unknown'
  | 'consumer_ambiguous'
  | 'reveal_without_format'
  | 'contract_invalid'
  | 'override_widens'
  | 'secret_unreadable'
  | 'secret_too_short'
  | 'token_shared';

/** A fault of what an operator wrote: a stable code, and one sentence that says what to change. Holds no secret. */
export class OperatorError extends Error {
  constructor(
    readonly code: OperatorErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'OperatorError';
  }
}
