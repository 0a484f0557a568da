/**
 * The most items of a list, by the name of the request and its field. Written from the API definition; do not edit.
 */

export const bodyParams = 256
export const templateCardButtons = 10
export const templateContentButtons = 10
export const templateContentCards = 10
export const contactContentAddresses = 100
export const contactContentEmails = 100
export const contactContentPhones = 100
export const contactContentUrls = 100
export const sendContactsContacts = 257
export const buttonsContentActionButtons = 3
export const listContentActionSections = 10
export const listContentActionSectionsRows = 10
export const productListContentActionSections = 10
export const productListContentActionSectionsProductItems = 30
export const mediaCardActionButtons = 3
export const carouselContentActionCards = 10
export const headerComponentExampleHeaderText = 100
export const headerComponentExampleHeaderTextNamedParams = 100
export const headerComponentExampleHeaderHandle = 100
export const bodyComponentExampleBodyText = 100
export const bodyComponentExampleBodyTextNamedParams = 100
export const buttonComponentExample = 100
export const buttonComponentSupportedApps = 5
export const buttonsComponentButtons = 10
export const carouselComponentCards = 10
export const carouselComponentCardsComponents = 3
export const createTemplateComponents = 6
export const editTemplateComponents = 6
export const createApiKeyScopes = 100
export const createApiKeyPhoneNumberIds = 100
export const createApiKeyAllowedCidrs = 100
export const passkeyRegistrationTransports = 16
export const optOutWordsStopWords = 200
export const optOutWordsStartWords = 200
export const optOutWordsRemoved = 200
export const alertSettingsEmails = 20
