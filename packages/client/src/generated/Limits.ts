/** Limits of the service. Written from the API definition; do not edit. */

/** The time that the service gives an upload of any size, in milliseconds. */
export const uploadTimeout = 1_800_000

/** The form of an Idempotency-Key. */
export const idempotencyKey = /^[\x21-\x7e]{1,255}$/u

/** The form of an Idempotency-Key, in words. */
export const idempotencyKeyForm = "1 to 255 visible ASCII characters"
