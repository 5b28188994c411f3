import type { ToolDescriptor } from '../contract/pin';
import type { ListedTool, Listing } from './listing';

export interface DatedListing {
  readonly listing: Listing;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MOST_LISTINGS = 200;
const MOST_DESCRIPTORS = 5_000;
/** Of all lists, and of all descriptors, as JSON: a server may list something large and new each time. */
const MOST_CHARACTERS = 33_554_432;

/**
 * Lists of servers that this process has read, by the fingerprint of the credential that they were read with, and the
 * descriptors behind the pins that it has seen. Both are content that was hashed here, so neither can make a drift
 * invisible.
 */
export class ListingCache {
  readonly #listings = new Map<string, DatedListing>();
  readonly #descriptors = new Map<string, ToolDescriptor>();
  readonly #now: () => number;
  /** Characters of what is kept. */
  #listed = 0;
  #described = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A list that is at most `ageSeconds` old; with 0 there is none. */
  listing(fingerprint: string, ageSeconds: number): DatedListing | undefined {
    const known = this.#listings.get(fingerprint);
    return known && this.#now() - known.at < ageSeconds * 1_000 ? known : undefined;
  }

  remember(fingerprint: string, listing: Listing): DatedListing {
    const dated = { listing, at: this.#now() };
    this.forget(fingerprint);
    const characters = charactersOf(listing);
    if (this.#listings.size >= MOST_LISTINGS || this.#listed + characters > MOST_CHARACTERS) {
      this.#listings.clear();
      this.#listed = 0;
    }
    this.#listings.set(fingerprint, dated);
    this.#listed += characters;
    for (const tool of listing.tools) this.#keep(tool);
    return dated;
  }

  #keep({ pin, descriptor, characters }: ListedTool): void {
    if (this.#descriptors.has(pin)) return;
    if (this.#descriptors.size >= MOST_DESCRIPTORS || this.#described + characters > MOST_CHARACTERS) {
      this.#descriptors.clear();
      this.#described = 0;
    }
    this.#descriptors.set(pin, descriptor);
    this.#described += characters;
  }

  forget(fingerprint: string): void {
    const known = this.#listings.get(fingerprint);
    if (known) this.#listed -= charactersOf(known.listing);
    this.#listings.delete(fingerprint);
  }

  /** What stands behind a pin, if a list with it was read. */
  descriptor(pin: string): ToolDescriptor | undefined {
    return this.#descriptors.get(pin);
  }
}

function charactersOf({ tools }: Listing): number {
  return tools.reduce((sum, { characters }) => sum + characters, 0);
}
