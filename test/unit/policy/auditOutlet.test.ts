import { AuditOutlet } from '../../../core/policy/auditOutlet';

const MINUTE = 60_000;

/** An outlet whose executions begin in this process. */
function reporting(): AuditOutlet {
  const outlet = new AuditOutlet();
  outlet.handOver('first', 0);
  outlet.arrived('first');
  return outlet;
}

describe('audit events that are lost', () => {
  test('are none as long as all is well', () => {
    const outlet = reporting();
    for (let index = 0; index < 5_000; index++) {
      expect(outlet.handOver(String(index), index)).toBe(true);
      outlet.arrived(String(index));
    }
    expect(outlet.takeUndelivered(10 * MINUTE)).toBe(0);
  });

  test('are told once, by the next event', () => {
    const outlet = reporting();
    outlet.lost(2);
    expect([outlet.takeUndelivered(0), outlet.takeUndelivered(0)]).toEqual([2, 0]);
  });

  test('are those whose execution has not begun within a minute', () => {
    const outlet = reporting();
    outlet.handOver('stuck', 0);
    outlet.handOver('slow', 50_000);
    expect(outlet.takeUndelivered(MINUTE - 1)).toBe(0);
    expect(outlet.takeUndelivered(MINUTE)).toBe(1);
    outlet.arrived('slow');
    outlet.arrived('stuck');
    expect(outlet.takeUndelivered(10 * MINUTE)).toBe(0);
  });

  test('are those that would pile up in a host whose executions do not begin any more', () => {
    const outlet = reporting();
    const handed = Array.from({ length: 1_200 }, (_, index) => outlet.handOver(String(index), 0));
    expect(handed.filter(Boolean)).toHaveLength(1_000);
    expect(outlet.takeUndelivered(0)).toBe(200);
  });

  test('are not counted where executions begin in another process, and nothing piles up', () => {
    const outlet = new AuditOutlet();
    const handed = Array.from({ length: 5_000 }, (_, index) => outlet.handOver(String(index), index));
    expect(handed).not.toContain(false);
    expect(outlet.takeUndelivered(10 * MINUTE)).toBe(0);
  });
});
