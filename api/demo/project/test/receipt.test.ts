import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, taxOf, total } from '../src/receipt.ts'

const apple = { name: 'apple', price: 45, quantity: 3, tax: 7 }
const book = { name: 'book', price: 1990, quantity: 1, tax: 19 }

test('tax rounds half up', () => {
  assert.equal(taxOf(apple), 9)
  assert.equal(taxOf(book), 378)
  assert.equal(taxOf({ name: 'pen', price: 50, quantity: 1, tax: 5 }), 3)
})

test('a receipt adds up', () => {
  assert.equal(total([apple, book]), 135 + 9 + 1990 + 378)
  assert.equal(total([]), 0)
})

test('amounts have two decimals', () => {
  assert.equal(format(2512), '$25.12')
  assert.equal(format(1205), '$12.05')
  assert.equal(format(-305), '-$3.05')
})
