import { rmSync } from 'node:fs';
import { Container } from '@n8n/di';
import { SSHClientsManager } from 'n8n-core/dist/execution-engine/ssh-clients-manager';

// n8n-core starts a timer with the first context and expects the host to stop it.
afterAll(() => {
  Container.get(SSHClientsManager).onShutdown();
  const folder = process.env['N8N_USER_FOLDER'];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});
