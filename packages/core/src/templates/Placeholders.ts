/**
 * Finds the placeholders of a template's text. The service and the dashboard's pages share this file, so it imports
 * nothing. Pure.
 */

/** The distinct placeholders of a text: numbered ones in order of number, otherwise in order of appearance. */
export const placeholdersOf = (text: string): ReadonlyArray<string> => {
  if (!text.includes("{{")) return []
  const names = new Set<string>()
  for (const [, name] of text.matchAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g)) names.add(name!)
  // positional placeholders are filled by their number, wherever they appear in the text
  return [...names].sort((a, b) => /^\d+$/.test(a) && /^\d+$/.test(b) ? Number(a) - Number(b) : 0)
}
