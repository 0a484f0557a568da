/** Times of the service, in milliseconds. Written from the API definition; do not edit. */

export const uploadTimeout = 1800000
