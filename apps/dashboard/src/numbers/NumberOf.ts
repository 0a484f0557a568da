/** Finds the number that a message or campaign is sent from. Pure. */
import type { PhoneNumber } from "@wac/client/internal"

/** The number with this id or in E.164; the default number if it is empty. */
export const numberOf = (numbers: ReadonlyArray<PhoneNumber>, from: string): PhoneNumber | undefined =>
  numbers.find(({ id, isDefault, phoneNumber }) => from === "" ? isDefault : from === id || from === phoneNumber)
