/** Reads the recipient of a message: the number as WhatsApp knows it, or a business-scoped user id. */

/** The digits of a number as people write it; undefined if it cannot be one. */
export const digitsOf = (to: string): string | undefined => {
  const digits = to.replace(/[\s()-]/g, "").replace(/^\+/, "")
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : undefined
}

/** From this area code on, WhatsApp's ids of Brazilian mobiles lack the ninth digit. */
const brazilWithoutNinth = 31

/**
 * The id under which WhatsApp knows a number, which may differ from it: a Brazilian mobile without its ninth digit, a
 * Mexican number with the 1 and an Argentinian one with the 9 that mobiles once had. Where a country has made its
 * numbers longer, accounts keep the shorter one: Benin's without the 01 of 2024, Ivory Coast's without the two digits
 * of 2021. The response to a send has it beside the given number (github.com/nyaruka/courier/pull/433, and for Mexico
 * github.com/david-lev/pywa/issues/155, github.com/chatwoot/chatwoot/issues/14926).
 */
const waIdOf = (digits: string): string => {
  const brazil = /^55(\d\d)9(\d{8})$/.exec(digits)
  if (brazil !== null && Number(brazil[1]) >= brazilWithoutNinth) return `55${brazil[1]}${brazil[2]}`
  const mexico = /^52([2-9]\d{9})$/.exec(digits)
  if (mexico !== null) return `521${mexico[1]}`
  const argentina = /^54([1-8]\d{9})$/.exec(digits)
  if (argentina !== null) return `549${argentina[1]}`
  const benin = /^22901(\d{8})$/.exec(digits)
  if (benin !== null) return `229${benin[1]}`
  const ivoryCoast = /^225(?:01|05|07|21|25|27)(\d{8})$/.exec(digits)
  if (ivoryCoast !== null) return `225${ivoryCoast[1]}`
  return digits
}

/** The key of a customer: WhatsApp's id for a number in any form; a business-scoped user id unchanged. */
export const keyOf = (name: string): string => {
  const digits = digitsOf(name)
  return digits === undefined ? name : waIdOf(digits)
}

const userIdShape = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

/** Whether this is a business-scoped user id, as `US.13491208655302741918`. */
export const isUserId = (name: string): boolean => userIdShape.test(name)
