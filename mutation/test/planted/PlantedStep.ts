/** Whether so many of them are too many. */
export const isTooMany = (count: number, most: number): boolean => count > most

/** Their sum. */
export const sum = (one: number, other: number): number => one + other

/** As many as there may be. */
export const bounded = (count: number, most: number): number => count > most ? most : count
