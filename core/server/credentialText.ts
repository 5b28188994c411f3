import { z } from 'zod';

/** A text field of a credential, trimmed; empty where n8n stored nothing. */
export const credentialText = z
  .string()
  .nullish()
  .transform((value) => (value ?? '').trim());
