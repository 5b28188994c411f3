import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';

/** n8n's hint about $fromAI, which every tool gets that asks no model for its parameters. */
const WITHOUT_HINTS = '[data-test-id="run-data-hints"] { display: none }';

const FOLDER = join(__dirname, '..', '..', 'docs', 'images');

/** Whether this run renews the pictures of the documentation. Other runs leave the checkout as it is. */
export const UPDATES_PICTURES = process.env['UPDATE_SCREENSHOTS'] === '1';

export interface Crop {
  /** Everything from the upper left corner of the first to the lower right corner of the last. */
  readonly around: readonly Locator[];
  /** Pixels to keep around them. */
  readonly margin?: number;
  /** Cut off below this many pixels. */
  readonly height?: number;
}

/** Writes `docs/images/<name>.png`, if this run renews the pictures. */
export async function picture(page: Page, name: string, { around, margin = 0, height }: Crop): Promise<void> {
  if (!UPDATES_PICTURES) return;
  const boxes = (await Promise.all(around.map((one) => one.boundingBox()))).flatMap((box) => box ?? []);
  const left = Math.min(...boxes.map(({ x }) => x)) - margin;
  const top = Math.min(...boxes.map(({ y }) => y)) - margin;
  const right = Math.max(...boxes.map(({ x, width }) => x + width)) + margin;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + margin;
  await mkdir(FOLDER, { recursive: true });
  await page.screenshot({
    path: join(FOLDER, `${name}.png`),
    animations: 'disabled',
    style: WITHOUT_HINTS,
    clip: {
      x: Math.max(0, left),
      y: Math.max(0, top),
      width: right - Math.max(0, left),
      height: Math.min(height ?? Infinity, bottom - Math.max(0, top)),
    },
  });
}
