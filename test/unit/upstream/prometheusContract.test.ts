import { json } from '../../support/upstreamDouble';
import { operationNamed } from '../contract/checkedIn';
import { parameters, useHarness } from './harness';

const harness = useHarness();

describe('the contract of Prometheus', () => {
  it.each([
    ['scalar', 1],
    ['string', 'text'],
  ])('answers a %s as one record of the usual shape', async (resultType, value) => {
    const result = [1767225600, String(value)];
    harness().upstream.on('*', json({ status: 'success', data: { resultType, result } }));
    const { structured } = await harness().call(operationNamed('prometheus_query'), { query: '1' });
    expect(structured).toMatchObject({
      items: [{ metric: {}, value: result }],
      returned: 1,
      result_type: resultType,
    });
  });

  it('refuses a day at one second without asking upstream', async () => {
    const args = { query: 'up', start: '1767139200', end: '1767225600', step: '1' };
    const failure = await harness().failure(operationNamed('prometheus_query_range'), args);
    expect(failure).toMatchObject({ code: 'range_too_wide', pointer: '/step' });
    expect(harness().upstream.requests).toEqual([]);
  });

  it('never asks for limit 0, which Prometheus reads as no limit', async () => {
    const failure = await harness().failure(operationNamed('prometheus_query'), { query: 'up', limit: 0 });
    expect(failure).toMatchObject({ code: 'arguments_invalid', pointer: '/limit' });
  });

  it('asks for a label list from the earliest allowed start on', async () => {
    harness().upstream.on('*', json({ status: 'success', data: [] }));
    await harness().call(operationNamed('prometheus_list_labels'), {}, { now: 1_767_225_600 });
    expect(parameters(harness().upstream.lastRequest.query)).toMatchObject({ start: ['1764547200'] });
  });
});
