/** The displayed names of customers: the phone number, or the user id if the number is not known. */

/** Whether a text is a user id of a customer, such as `US.13491208655302741918`. Pure. */
export const isUserId = (text: string): boolean => /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(text)

/** Whether a text is a number or a user id that a message can be sent to. Pure. */
export const isName = (text: string): boolean => /^\+\d{7,15}$/.test(text) || isUserId(text)
