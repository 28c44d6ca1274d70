import { expect, test } from 'vitest'
import { Contact } from '../../../../src/store/redis/contact.ts'

const INFO = 'redis_version:7.0.15\r\nserver_time_usec:5000000\r\n'
const now = () => performance.now()

test('a server that always answered is in no doubt', () => {
  const contact = new Contact(250)
  expect(contact.heard(INFO, now(), false)).toBe(false)
  expect(contact.sinceMs).toBe(Number.NEGATIVE_INFINITY)
})

test('one that was away is in doubt until others were told, and that has ended', () => {
  const contact = new Contact(250)
  contact.lost()
  const before = contact.sinceMs
  expect(before).toBeGreaterThan(0)
  expect(contact.heard(INFO, now(), false)).toBe(true)
  expect(contact.sinceMs).toBeGreaterThanOrEqual(before)
  expect(contact.heard(INFO, now(), true)).toBe(false)
  const atLast = now()
  expect(contact.heard(INFO, now(), false)).toBe(false)
  const since = contact.sinceMs
  expect(since).toBeGreaterThanOrEqual(atLast)
  expect(contact.sinceMs).toBe(since)
})

test('another process that was away makes it doubtful too, also at its start', () => {
  const contact = new Contact(250)
  expect(contact.heard(INFO, now(), true)).toBe(false)
  expect(contact.sinceMs).toBeGreaterThan(0)
})

test('a call may be as late as the server’s clock says', () => {
  const contact = new Contact(250)
  expect(contact.timeIn(100)).toBe('')
  const asked = now()
  contact.heard(INFO, asked, false)
  const latest = Number(contact.timeIn(100))
  expect(latest).toBeGreaterThanOrEqual(5_100)
  expect(latest).toBeLessThanOrEqual(5_101 + now() - asked)
  contact.heard('redis_version:7.0.15', now(), false)
  expect(contact.timeIn(100)).toBe('')
})

test('others may think that it is there for as long as a word may still arrive', () => {
  const contact = new Contact(250)
  contact.heard(INFO, now(), false)
  contact.asking(200)
  expect(contact.leaseMs).toBeGreaterThan(400)
  // It has not heard that the others are there, and says nothing of them.
  expect(contact.isSure).toBe(false)
  contact.noted(true)
  expect(contact.leaseMs).toBeLessThanOrEqual(250)
  expect(contact.isSure).toBe(true)
  contact.asking(200)
  expect(contact.leaseMs).toBeGreaterThan(400)
})
