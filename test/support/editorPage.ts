import { chromium, type Browser, type Locator, type Page } from 'playwright-core';

import type { AttachedHost } from '../hosts/host';
import type { Service } from './services';

export const CHROMIUM: Service = { binary: 'chromium', aptPackage: 'chromium' };

/** A browser that calls nobody but the host. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** For a machine that runs other suites beside this one. */
const PATIENCE_MS = 30_000;

export interface EditorWishes {
  executablePath: string;
  /** Pixels of the screen for one of the page. */
  scale?: number;
}

/** One option of a list in the editor, as a person reads it. */
export interface ShownOption {
  readonly name: string;
  readonly description: string;
}

/** n8n's editor in a browser, signed in. What differs between the supported releases is known here and nowhere else. */
export class EditorPage {
  readonly #browser: Browser;
  readonly #host: AttachedHost;
  readonly page: Page;

  private constructor(browser: Browser, host: AttachedHost, page: Page) {
    this.#browser = browser;
    this.#host = host;
    this.page = page;
  }

  static async signIn(host: AttachedHost, wishes: EditorWishes): Promise<EditorPage> {
    const browser = await chromium.launch({ executablePath: wishes.executablePath, args: QUIET });
    try {
      const context = await browser.newContext({
        viewport: { width: 1400, height: 900 },
        deviceScaleFactor: wishes.scale ?? 1,
        colorScheme: 'light',
        reducedMotion: 'reduce',
      });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      // What pops up over the page would get the clicks.
      const popUp = page.locator('.el-notification').first();
      await page.addLocatorHandler(popUp, async () => {
        await popUp.locator('.el-notification__closeBtn').click();
      });
      await page.goto(`${host.url}/signin`);
      await page.locator('input[name="emailOrLdapLoginId"]').fill(host.ownerEmail);
      await page.locator('input[name="password"]').fill(host.ownerPassword);
      await page.locator('[data-test-id="form-submit-button"]').click();
      await page.waitForURL((url) => !url.pathname.startsWith('/signin'));
      return new EditorPage(browser, host, page);
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  /** Opens a workflow as it is stored. */
  async openWorkflow(id: string): Promise<void> {
    await this.page.goto(`${this.#host.url}/workflow/${id}`);
    await this.#byId('canvas-node').first().waitFor();
  }

  /** Opens a workflow unless it is open: loading the editor is what takes long. */
  async showWorkflow(id: string): Promise<void> {
    if (!this.page.url().includes(`/workflow/${id}`)) await this.openWorkflow(id);
  }

  /** 1.x saves when it is told to, 2.x by itself a moment later; so look at what is stored, and do that patiently. */
  async save(): Promise<void> {
    if (this.#host.version.startsWith('1.')) await this.page.keyboard.press('Control+s');
  }

  /** Names of what the node panel finds. The panel stays open. */
  async searchNodes(text: string): Promise<string[]> {
    await this.#byId('node-creator-plus-button').first().click();
    return await this.#searchPanel(text);
  }

  /** The same for what fits the Tool connector of the workflow's only AI Agent. */
  async searchAgentTools(text: string): Promise<string[]> {
    await this.page
      .locator('[data-handleid="inputs/ai_tool/0"] [data-test-id="canvas-handle-plus"]')
      .first()
      .click();
    return await this.#searchPanel(text);
  }

  async #searchPanel(text: string): Promise<string[]> {
    await this.#byId('node-creator-search-bar').fill(text);
    await this.#panelItem().filter({ hasText: text }).first().waitFor();
    return await this.panelNames();
  }

  /** Takes what the panel found: adds it, or shows what it can do. */
  async takeFromPanel(name: string): Promise<void> {
    await this.#panelItem().filter({ hasText: name }).first().click();
  }

  /** Names of what the panel lists now; one list moves out while the next moves in. */
  async panelNames(): Promise<string[]> {
    const names = this.#panelItem().locator('[data-test-id="node-creator-item-name"]');
    return (await names.allInnerTexts()).map((name) => name.trim());
  }

  #panelItem(): Locator {
    return this.#byId('item-iterator-item');
  }

  canvasNode(name: string): Locator {
    return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
  }

  async openNode(name: string): Promise<void> {
    await this.canvasNode(name).dblclick();
    await this.nodeOpened();
  }

  async nodeOpened(): Promise<void> {
    await this.#byId('node-parameters').waitFor();
  }

  async closeNode(): Promise<void> {
    const close = '[data-test-id="ndv-close-button"], [data-test-id="back-to-canvas"]';
    await this.page.locator(close).first().click();
    await this.#byId('node-parameters').waitFor({ state: 'hidden' });
  }

  /** The middle of an opened node: its parameters. */
  get parameters(): Locator {
    return this.#byId('node-parameters');
  }

  /** What stands above the parameters. */
  get tabs(): Locator {
    return this.#byId('tab-params');
  }

  /** The right side of an opened node: what its last run gave. */
  get output(): Locator {
    return this.#byId('output-panel');
  }

  parameter(name: string): Locator {
    return this.#byId(`parameter-input-${name}`);
  }

  /** Red marks at parameters whose value is missing or no longer offered. */
  get issues(): Locator {
    return this.parameters.locator('[data-test-id="parameter-issues"]').filter({ visible: true });
  }

  /** Opens the list of a parameter and waits until it is loaded. */
  async openList(name: string): Promise<Locator> {
    const field = this.parameter(name);
    // Disabled while the options are under way.
    await field.locator('input:enabled').first().waitFor();
    await field.click();
    const list = await field.locator('[aria-controls]').first().getAttribute('aria-controls');
    const options = this.page.locator(`[id="${String(list)}"] [role="option"]`);
    await options.first().waitFor();
    return options;
  }

  async closeList(): Promise<void> {
    await this.page.keyboard.press('Escape');
    await this.page.locator('[role="option"]').filter({ visible: true }).first().waitFor({ state: 'hidden' });
  }

  async choose(name: string, option: string | RegExp): Promise<void> {
    const options = await this.openList(name);
    await options.filter({ hasText: option }).click();
  }

  async shownOptions(options: Locator): Promise<ShownOption[]> {
    const texts = await options.allInnerTexts();
    return texts.map((text) => {
      const [name = '', ...description] = text.split('\n');
      return { name: name.trim(), description: description.join(' ').trim() };
    });
  }

  /** Names of a searchable list (resource locator). */
  async openLocator(): Promise<Locator> {
    await this.#byId('rlc-input').click();
    const items = this.#byId('rlc-item');
    await items.first().waitFor();
    return items;
  }

  locatorValue(): Promise<string> {
    return this.#byId('rlc-input').inputValue();
  }

  /** Replaces the text of a code field. */
  async write(name: string, text: string): Promise<void> {
    await this.parameter(name).locator('.cm-content').click();
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.insertText(text);
  }

  async executeNode(): Promise<void> {
    await this.#byId('node-execute-button').first().click();
  }

  async executeWorkflow(): Promise<void> {
    await this.#byId('execute-workflow-button').first().click();
  }

  /** What is said about a failed run of the opened node. */
  get error(): Locator {
    return this.output.locator('[data-test-id="node-error-message"]');
  }

  async chooseCredential(name: string): Promise<void> {
    const field = this.#byId('node-credentials-select');
    await field.first().click();
    const list = await field.locator('[aria-controls]').first().getAttribute('aria-controls');
    await this.page
      .locator(`[id="${String(list)}"] li`)
      .filter({ hasText: name })
      .first()
      .click();
  }

  /** Opens the credential of the opened node. */
  async openCredential(): Promise<void> {
    await this.#byId('credential-edit-button').click();
    await this.credential.waitFor();
    await this.parameter('authentication').waitFor();
  }

  get credential(): Locator {
    return this.#byId('editCredential-modal');
  }

  /** Labels of the fields that the credential shows. */
  async credentialFields(): Promise<string[]> {
    const fields = await this.#byId('credential-connection-parameter').allInnerTexts();
    return fields.map((text) => (text.split('\n')[0] ?? '').replace('*', '').trim());
  }

  /** Saves the credential, which tests it too; gives what the node's test said. */
  async saveCredential(): Promise<{ status: string; message: string }> {
    const tested = this.page.waitForResponse((response) => response.url().endsWith('/rest/credentials/test'));
    await this.#byId('credential-save-button').click();
    const { data } = (await (await tested).json()) as { data: { status: string; message: string } };
    return data;
  }

  /** What the editor says about a failed test when it is asked for more. */
  async credentialFailure(): Promise<string> {
    await this.credential.getByText('More details').filter({ visible: true }).first().click();
    const details = this.#byId('node-credentials-config-container');
    await details.getByText('More details').filter({ visible: true }).first().waitFor({ state: 'hidden' });
    return await details.innerText();
  }

  #byId(id: string): Locator {
    return this.page.locator(`[data-test-id="${id}"]`);
  }
}
