/**
 * Packages that a host installs for one feature. Each is imported by `await import()` within a `try`, and in no call: only
 * there do bundlers see that its absence is caught, and accept it.
 */

/** Whether an import failed because the package is not installed, here or where a bundler built the program. Pure. */
export const isMissing = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  // Vite puts a module in the package's place that throws an error without a code
  return "code" in error && error.code !== undefined
    ? error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND"
    : error.message.startsWith("Could not resolve ")
}
