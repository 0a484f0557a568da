/**
 * The shortest text of a field, in characters, by the name of the request and its field. Written from the API
 * definition; do not edit.
 */

export const buttonComponentSupportedAppsSignatureHash = 11
export const setUpEmail = 3
export const setUpPassword = 8
export const changePasswordNew = 8
export const resetPasswordPassword = 8
export const inviteMemberEmail = 3
export const acceptInvitationPassword = 8
export const alertSettingsEmails = 3
