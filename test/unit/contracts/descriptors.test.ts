import { surfaceOf } from '../../../core/contract/surface';
import { CONTRACTS } from '../contract/checkedIn';
import { expectedFile } from './expectedFile';

describe('what a model sees', () => {
  it.each(CONTRACTS.map((contract) => [contract.application_id, contract] as const))(
    'of %s changes by review only',
    (id, contract) => {
      const { name, instructions, tools } = surfaceOf(contract);
      const seen = { name, instructions, tools: tools.map(({ descriptor }) => descriptor) };
      const text = `${JSON.stringify(seen, null, 2)}\n`;
      expect(text).toBe(expectedFile(`descriptors/${id}.json`, text));
    },
  );
});
