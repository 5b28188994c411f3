import { ConcurrencyGate, limitsSchema, utf8Bytes } from '../../../core/policy/limits';

const limits = {
  request_bytes: 1,
  response_bytes: 1,
  timeout_seconds: 1,
  concurrent_requests: 1,
  page_size: 1,
  result_items: 1,
  stream_seconds: 1,
};

describe('limits', () => {
  it('are seven and no more', () => {
    expect(Object.keys(limitsSchema.shape)).toEqual(Object.keys(limits));
    expect(limitsSchema.safeParse({ ...limits, burst: 5 }).success).toBe(false);
  });

  it.each([0, -1, 1.5, Infinity, NaN, '1', null])('are whole and at least 1, not %p', (value) => {
    expect(limitsSchema.safeParse({ ...limits, page_size: value }).success).toBe(false);
  });

  it('count bytes of UTF-8, not characters', () => {
    expect(utf8Bytes('a€😀')).toBe(8);
  });
});

describe('calls at the same time', () => {
  it('are refused beyond the limit and admitted again when one ends', () => {
    const gate = new ConcurrencyGate();
    const leave = gate.tryEnter('a', 2);
    expect(gate.tryEnter('a', 2)).toBeDefined();
    expect(gate.tryEnter('a', 2)).toBeUndefined();
    leave?.();
    expect(gate.tryEnter('a', 2)).toBeDefined();
  });

  it('are counted for each surface on its own', () => {
    const gate = new ConcurrencyGate();
    expect(gate.tryEnter('a', 1)).toBeDefined();
    expect(gate.tryEnter('b', 1)).toBeDefined();
  });

  it('cannot free a second place by ending twice', () => {
    const gate = new ConcurrencyGate();
    const first = gate.tryEnter('a', 2);
    gate.tryEnter('a', 2);
    first?.();
    first?.();
    expect(gate.tryEnter('a', 2)).toBeDefined();
    expect(gate.tryEnter('a', 2)).toBeUndefined();
  });
});
