/** Who a message of the simulated Cloud API goes to: how numbers are read, and what upstream makes of them. */

/** The digits of a number as people write it; undefined if it cannot be one. */
export const digitsOf = (to: string): string | undefined => {
  const digits = to.replace(/[\s()-]/g, "").replace(/^\+/, "")
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : undefined
}

/** Below this area code Brazilian numbers keep their ninth digit on WhatsApp. */
const brazilWithoutNinth = 31

/**
 * The id under which WhatsApp knows a number, which may differ from it: a Brazilian mobile without its ninth digit,
 * a Mexican number with the 1 and an Argentinian one with the 9 that mobiles once had.
 */
const waIdOf = (digits: string): string => {
  const brazil = /^55(\d\d)9(\d{8})$/.exec(digits)
  if (brazil !== null && Number(brazil[1]) >= brazilWithoutNinth) return `55${brazil[1]}${brazil[2]}`
  const mexico = /^52([2-9]\d{9})$/.exec(digits)
  if (mexico !== null) return `521${mexico[1]}`
  const argentina = /^54([1-8]\d{9})$/.exec(digits)
  if (argentina !== null) return `549${argentina[1]}`
  return digits
}

/** A customer, however they are named: the id of WhatsApp for a number, a business-scoped id as it is. */
export const keyOf = (name: string): string => {
  const digits = digitsOf(name)
  return digits === undefined ? name : waIdOf(digits)
}

const userIdShape = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

/** Whether this is a business-scoped user id, as `US.13491208655302741918`. */
export const isUserId = (name: string): boolean => userIdShape.test(name)
