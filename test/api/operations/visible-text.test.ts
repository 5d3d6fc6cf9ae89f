import { expect, it } from 'vitest'
import { unmistakable, visible } from '../../../api/operations/text/visible-text.ts'

it.each([
  ['a Persian word', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
  ['a Hindi word', '\u0915\u094d\u200d\u0937'],
  ['a family', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'],
  ['a heart', '\u2764\ufe0f'],
  ['a flag', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
  ['a skin tone', '\u{1f469}\u{1f3fd}\u200d\u{1f680}'],
  ['a keycap', '1\ufe0f\u20e3'],
])('joiners that belong to %s stay as they are, except in what a person approves', (_, text) => {
  expect(visible(`x ${text} y`)).toBe(`x ${text} y`)
  expect(unmistakable(text)).toContain('‹U+')
})

it.each([
  ['a joiner between Latin letters', 'pass\u200dword', 'pass‹U+200D›word'],
  ['two joiners in a word', '\u06cc\u200c\u200c\u062e', '\u06cc‹U+200C›‹U+200C›\u062e'],
  ['a joiner at the end', '\u06cc\u200c', '\u06cc‹U+200C›'],
  ['a variation selector after a letter', 'a\ufe0f', 'a‹U+FE0F›'],
  ['a bidi control in Persian', '\u06cc\u202e\u062e', '\u06cc‹U+202E›\u062e'],
  ['a bidi mark in Arabic', '\u0627\u061c\u0628', '\u0627‹U+061C›\u0628'],
  ['a space without width', 'a\u200bb', 'a‹U+200B›b'],
])('%s is marked', (_, text, marked) => {
  expect(visible(text)).toBe(marked)
})
