import { visible } from '../../operations/text/visible-text.ts'

/** Escape sequences of terminals: they colour text there, and would only be noise here. */
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g

/** Text of models, tools and people as it may be shown: nothing in it is hidden, and nothing turns its direction. */
export const shown = (text: string): string => visible(text.replace(ANSI, ''))
