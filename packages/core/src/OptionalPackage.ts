/**
 * Packages that a host installs only if it uses the feature that needs them. Each must be imported by a plain `await
 * import()` within a `try`, not by a helper function: only then do bundlers see that a missing package is handled, and
 * accept it.
 */

/** Whether an import failed because the package is not installed, here or where a bundler built the program. Pure. */
export const isMissing = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  // Vite puts a module in the package's place that throws an error without a code
  return "code" in error && error.code !== undefined
    ? error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND"
    : error.message.startsWith("Could not resolve ")
}
