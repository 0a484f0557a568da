/**
 * New ids of events, for tests of receivers.
 */

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** A new id as the service makes them, `evt_` and a ULID: receivers may refuse ids of a different shape. */
export const newEventId = (): string => {
  const now = Date.now()
  let id = "evt_"
  for (let place = 9; place >= 0; place--) id += digits.charAt(now / 32 ** place % 32)
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) id += digits.charAt(byte % 32)
  return id
}
