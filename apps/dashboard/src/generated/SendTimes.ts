/** When a queued message may be sent. Written from the API definition; do not edit. */

/** How far ahead a message may be queued, and how long it may be tried from then on, in days. */
export const longestDays = 90

/** How long a message is tried from its time on, unless its sender says otherwise, in hours. */
export const standardTrialHours = 24
