/** Recognizes the names of customers: phone numbers, and the provider's user ids. */

/** Whether a text is the provider's user id of a customer, such as `US.13491208655302741918`. Pure. */
export const isUserId = (text: string): boolean => /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(text)

/** Whether a text is a phone number in E.164, or a user id. Messages can be sent to both. Pure. */
export const isName = (text: string): boolean => /^\+\d{7,15}$/.test(text) || isUserId(text)
