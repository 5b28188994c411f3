import { Sessions } from '../../../core/client/sessions';
import type { ToolServer } from '../../../core/client/toolServer';

/** A server of which only its end is of interest. */
function closable() {
  const close = jest.fn(() => Promise.resolve());
  return { server: { close } as unknown as ToolServer, close };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const never = () => undefined;

describe('a server that is leased', () => {
  it('is the same for one key, and another for another', async () => {
    const sessions = new Sessions();
    const make = jest.fn(() => closable().server);
    const lifetime = { lingerMs: 0, onEnd: never };
    const one = sessions.lease('a', make, lifetime);
    const two = sessions.lease('a', make, lifetime);
    const other = sessions.lease('b', make, lifetime);
    expect(two.server).toBe(one.server);
    expect(other.server).not.toBe(one.server);
    expect(make).toHaveBeenCalledTimes(2);
    await Promise.all([one, two, other].map(({ release }) => release()));
    expect(sessions.size).toBe(0);
  });

  it('is closed when the last one gives it back, and giving back twice counts once', async () => {
    const sessions = new Sessions();
    const { server, close } = closable();
    const lifetime = { lingerMs: 0, onEnd: never };
    const one = sessions.lease('a', () => server, lifetime);
    const two = sessions.lease('a', () => server, lifetime);
    await one.release();
    await one.release();
    expect(close).not.toHaveBeenCalled();
    await two.release();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('waits for the next one for as long as it may linger, and is closed after that', async () => {
    const sessions = new Sessions();
    const { server, close } = closable();
    const lifetime = { lingerMs: 1_000, onEnd: never };
    await sessions.lease('a', () => server, lifetime).release();
    await jest.advanceTimersByTimeAsync(999);
    const again = sessions.lease('a', () => closable().server, lifetime);
    expect(again.server).toBe(server);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(close).not.toHaveBeenCalled();
    await again.release();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(close).toHaveBeenCalledTimes(1);
    expect(sessions.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is closed when the execution ends, also while it is in use, and never lent again', async () => {
    const sessions = new Sessions();
    const { server, close } = closable();
    const ends: (() => void)[] = [];
    const lifetime = { lingerMs: 1_000, onEnd: (end: () => void) => ends.push(end) };
    const lease = sessions.lease('a', () => server, lifetime);
    ends[0]?.();
    expect(close).toHaveBeenCalledTimes(1);
    const next = closable();
    expect(sessions.lease('a', () => next.server, lifetime).server).toBe(next.server);
    await lease.release();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(next.close).not.toHaveBeenCalled();
    expect(sessions.size).toBe(1);
  });

  it('asks the host once to be told of the end', () => {
    const sessions = new Sessions();
    const { server } = closable();
    const onEnd = jest.fn();
    for (let use = 0; use < 3; use += 1) sessions.lease('a', () => server, { lingerMs: 0, onEnd });
    expect(onEnd).toHaveBeenCalledTimes(1);
  });
});
