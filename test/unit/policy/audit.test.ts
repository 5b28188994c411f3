import {
  auditEvent,
  auditLine,
  isRecorded,
  type AuditFacts,
  type Recording,
} from '../../../core/policy/audit';

const facts: AuditFacts = {
  arrived: Date.UTC(2026, 0, 31, 12, 0, 0, 7),
  correlation_id: '4b1c',
  provider_application_id: 'web-app-prometheus',
  consumer_application_id: 'client-claude',
  tool: 'prometheus_query',
  credential_subject: 'mcp-service-web-app-prometheus',
  code: 'ok',
  duration_ms: 12.6,
  request_bytes: 120,
  response_bytes: 4_000,
  undelivered_before: 0,
};

describe('audit event', () => {
  it('has exactly the fields of document 003', () => {
    expect(auditEvent(facts)).toEqual({
      time: '2026-01-31T12:00:00.007Z',
      correlation_id: '4b1c',
      provider_application_id: 'web-app-prometheus',
      consumer_application_id: 'client-claude',
      tool: 'prometheus_query',
      credential_subject: 'mcp-service-web-app-prometheus',
      status: 'ok',
      code: 'ok',
      duration_ms: 13,
      request_bytes: 120,
      response_bytes: 4_000,
      undelivered_before: 0,
    });
  });

  it('takes over nothing else that is passed in', () => {
    const event = auditEvent({
      ...facts,
      arguments: { q: 'secret' },
      authorization: 'Bearer x',
    } as AuditFacts);
    expect(Object.keys(event)).toHaveLength(12);
    expect(auditLine(event)).not.toMatch(/secret|Bearer/);
  });

  it.each([
    ['ok', 'ok'],
    ['arguments_invalid', 'refused'],
    ['bearer_invalid', 'refused'],
    ['upstream_timeout', 'error'],
    ['schema_drift', 'error'],
  ] as const)('of code %s has status %s', (code, status) => {
    expect(auditEvent({ ...facts, code })).toMatchObject({ code, status });
  });

  it.each([
    [undefined],
    [null],
    [7],
    [''],
    ['x'.repeat(65)],
    ['a tool\nmcp_audit {"code":"ok"}'],
    ['<script>'],
    [{ toString: () => 'n8n_list_workflows' }],
    [['n8n_list_workflows']],
  ])('leaves out a name that no tool can have: %p', (tool) => {
    expect(auditEvent({ ...facts, tool }).tool).toBeNull();
  });

  it('is one line that begins with its own word', () => {
    const line = auditLine(auditEvent({ ...facts, correlation_id: 'a\nb' }));
    expect(line).toMatch(/^mcp_audit \{[^\n]*\}$/);
    expect(JSON.parse(line.slice('mcp_audit '.length))).toMatchObject({ tool: 'prometheus_query' });
  });
});

describe('recording as an execution', () => {
  const ok = auditEvent(facts);
  const refused = auditEvent({ ...facts, code: 'arguments_invalid' });
  const failed = auditEvent({ ...facts, code: 'upstream_timeout' });
  const unknown = auditEvent({ ...facts, code: 'bearer_invalid', consumer_application_id: null });

  it.each<[Recording, boolean, boolean, boolean]>([
    ['all', true, true, true],
    ['refusals', false, true, true],
    ['none', false, false, false],
  ])('with the option %s: success %s, refusal %s, error %s', (recording, onOk, onRefusal, onError) => {
    expect(isRecorded(ok, true, recording)).toBe(onOk);
    expect(isRecorded(refused, true, recording)).toBe(onRefusal);
    expect(isRecorded(failed, true, recording)).toBe(onError);
  });

  it.each<Recording>(['all', 'refusals', 'none'])(
    'with the option %s never saves what is no call or comes from nobody known',
    (recording) => {
      expect(isRecorded(unknown, true, recording)).toBe(false);
      for (const event of [ok, refused, failed]) expect(isRecorded(event, false, recording)).toBe(false);
    },
  );
});
