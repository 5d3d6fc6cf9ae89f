import { visible } from '../../operations/text/visible-text.ts'

/** Terminal escape sequences. Outside of terminal output they are only noise. */
export const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g

/** Makes untrusted text safe to show: no hidden characters, and no characters that change the text direction. */
export const shown = (text: string): string => visible(text.replace(ANSI, ''))
