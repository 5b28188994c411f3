import { RateLimiter } from '../../../core/policy/rate';

const MINUTE = 60_000;

describe('requests per minute', () => {
  test('lets through as many at once as the limit says, then one per share of a minute', () => {
    const rates = new RateLimiter();
    const taken = Array.from({ length: 7 }, () => rates.take('a', 6, 0));
    expect(taken).toEqual([0, 0, 0, 0, 0, 0, 10]);
    expect([rates.take('a', 6, 9_999), rates.take('a', 6, 10_000), rates.take('a', 6, 10_000)]).toEqual([
      1, 0, 10,
    ]);
  });

  test.each([1, 7, 60, 999, 100_000])(
    'of %d are never exceeded by more than what a minute adds',
    (perMinute) => {
      const rates = new RateLimiter();
      let passed = 0;
      for (let now = 0; now < 3 * MINUTE; now += 100) {
        for (let tries = 0; tries < 200; tries++) if (rates.take('a', perMinute, now) === 0) passed += 1;
      }
      expect(passed).toBeLessThanOrEqual(4 * perMinute);
      expect(passed).toBeGreaterThanOrEqual(Math.min(3 * perMinute, 4 * perMinute - 1));
    },
  );

  test('a refused request costs nothing, so that asking too often does not lock out', () => {
    const rates = new RateLimiter();
    rates.take('a', 1, 0);
    for (let now = 1; now < MINUTE; now += 1_000) expect(rates.take('a', 1, now)).toBeGreaterThan(0);
    expect(rates.take('a', 1, MINUTE)).toBe(0);
  });

  test('of one consumer are not those of another', () => {
    const rates = new RateLimiter();
    rates.take('a', 1, 0);
    expect([rates.take('a', 1, 0), rates.take('b', 1, 0)]).toEqual([60, 0]);
  });

  test('survive a clock that is set back, without locking out for longer than a minute', () => {
    const rates = new RateLimiter();
    rates.take('a', 1, 100 * MINUTE);
    expect(rates.take('a', 1, 0)).toBeLessThanOrEqual(60);
    expect(rates.take('a', 1, MINUTE)).toBe(0);
  });

  test('keep nothing of consumers that have been quiet for a minute', () => {
    const rates = new RateLimiter();
    for (let index = 0; index < 10_000; index++) rates.take(`consumer-${String(index)}`, 2, index * 60);
    expect(rates.size).toBeLessThanOrEqual(1_001);
  });
});
