import type { ToolDescriptor } from '../contract/pin';
import type { Listing } from './listing';

export interface DatedListing {
  readonly listing: Listing;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MOST_LISTINGS = 200;
const MOST_DESCRIPTORS = 5_000;

/**
 * Lists of servers that this process has read, by the fingerprint of the credential that they were read with, and the
 * descriptors behind the pins that it has seen. Both are content that was hashed here, so neither can make a drift
 * invisible.
 */
export class ListingCache {
  readonly #listings = new Map<string, DatedListing>();
  readonly #descriptors = new Map<string, ToolDescriptor>();
  readonly #now: () => number;

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
    if (this.#listings.size >= MOST_LISTINGS) this.#listings.clear();
    this.#listings.set(fingerprint, dated);
    for (const { pin, descriptor } of listing.tools) {
      if (this.#descriptors.size >= MOST_DESCRIPTORS) this.#descriptors.clear();
      this.#descriptors.set(pin, descriptor);
    }
    return dated;
  }

  forget(fingerprint: string): void {
    this.#listings.delete(fingerprint);
  }

  /** What stands behind a pin, if a list with it was read. */
  descriptor(pin: string): ToolDescriptor | undefined {
    return this.#descriptors.get(pin);
  }
}
