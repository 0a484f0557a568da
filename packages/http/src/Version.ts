/**
 * The running version.
 */

/**
 * The version of our packages, which all have the same. It is written here by the release, and not read from the
 * manifest, which is not beside this code in a bundle.
 */
export const version = "0.1.0"
