import { isObject, listOf, otherShape, type JsonObject, type UnusedCredential } from './shapes';

const REPORT = 'a security audit';

/**
 * The credentials that no workflow uses, out of n8n's security audit: it is the only call of 1.100.1 that names
 * credentials.
 *
 * @throws N8nApiError `not_the_public_api` when it is no audit, so that an answer that nobody understands is not "none"
 */
export function unusedIn(audit: unknown): UnusedCredential[] {
  // Nothing to say, about no credential at all, is an empty list instead of an object of reports.
  if (Array.isArray(audit) && audit.length === 0) return [];
  if (!isObject(audit)) throw otherShape(REPORT);
  const report = Object.values(audit).find((one) => isObject(one) && one['risk'] === 'credentials');
  if (!isObject(report)) throw otherShape(REPORT);
  const sections = listOf(report['sections'], 'sections of a security audit').filter(isObject);
  const unused = sections.find(({ title }) => title === 'Credentials not used in any workflow');
  if (!unused) {
    if (!sections.every(isAboutOtherUse)) throw otherShape(REPORT);
    return [];
  }
  return listOf(unused['location'], 'credentials').map((location) => {
    const { id, name } = isObject(location) ? location : {};
    if (typeof id !== 'string' || id === '' || typeof name !== 'string') throw otherShape(REPORT);
    return { id, name };
  });
}

function isAboutOtherUse({ title }: JsonObject): boolean {
  return typeof title === 'string' && /^Credentials not used in (?:any active|recently executed)/.test(title);
}
