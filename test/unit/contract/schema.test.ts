import { Ajv2020 } from 'ajv/dist/2020';
import { parse } from 'yaml';
import { contractJsonSchema, dispositionSchema } from '../../../core/contract/schema';
import { CLASSIFICATIONS, REASONS } from '../../../core/contract/vocabulary';
import { APPLICATION_IDS, contractText, rawContract } from './checkedIn';

const accepts = new Ajv2020({ validateFormats: false }).compile(contractJsonSchema());

const refusal = {
  application_id: 'web-app-keycloak',
  classification: 'no_surface',
  reason: 'privileged_control_plane',
  notes: 'Administers every other application of the installation.',
};

describe('JSON Schema for editors', () => {
  it.each(APPLICATION_IDS)('accepts the contract of %s', (applicationId) => {
    expect(accepts(parse(contractText(applicationId)))).toBe(true);
  });

  it('accepts a reviewed refusal', () => {
    expect(accepts(refusal)).toBe(true);
  });

  it.each([
    ['an unknown key', { ...rawContract(), include_all: true }],
    ['an enabled surface', { ...rawContract(), enabled: true }],
    ['an unknown transport', { ...rawContract(), transport: 'stdio' }],
    ['an unknown key in a refusal', { ...refusal, tools: [] }],
  ])('refuses %s', (_what, contract) => {
    expect(accepts(contract)).toBe(false);
  });
});

describe('a reviewed refusal', () => {
  it.each(CLASSIFICATIONS.filter((value) => value !== 'adapter_server'))(
    'may be classified %s',
    (classification) => {
      expect(dispositionSchema.safeParse({ ...refusal, classification }).success).toBe(true);
    },
  );

  it.each(REASONS)('may give the reason %s', (reason) => {
    expect(dispositionSchema.safeParse({ ...refusal, reason }).success).toBe(true);
  });

  it.each([
    ['no reason', { reason: undefined }],
    ['a reason outside the vocabulary', { reason: 'later' }],
    ['no notes to speak of', { notes: 'no' }],
    ['the class of a served surface', { classification: 'adapter_server' }],
  ])('needs more than %s', (_what, change) => {
    expect(dispositionSchema.safeParse({ ...refusal, ...change }).success).toBe(false);
  });
});
