/** One fault as the checks report it, before it has a file and a line. */
export type Fault = [path: PropertyKey[], reason: string];
