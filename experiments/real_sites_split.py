"""The split of the real organisations' sites: development and test, by a digest of the site's id.

Made before any page was looked at; nothing may be chosen on the test part.
"""

import hashlib

# SHA-256 of the site's id, its first twelve hexadecimal digits; a site is in the test part if the
# last of them is odd
DEVELOPMENT = """
    0dc5358e2792 0fc292e76c74 2273987f30d4 26c6ef0a0178 349c02e578e6 425527a044b2 43cfca6e4fac
    454fc2006e3e 52e560c005ce 66f127f6e164 6ce268797500 6f3a4d68a448 705913cba5b0 730f8818e18e
    7bd6cf1a7912 8b3afbf857ba a4f0f76b469e b0bd1db35282 b88206135c7a cc0dce36602a eba6e5e1756c
""".split()
TEST = """
    0a5fef81a999 1b9c59d79a21 30525a213693 3a9081721329 544916279679 71126cf492ed 7edb9f2883bb
    8e8dc4422e33 9a4b091278eb a4c814745cf5 a6fe2435df5d a7ce14b9d823 ba4bd35d15cf c6939dccb7b7
    c8dd40ea3bb9 d3e202c3e1f5 dd41ab4aa1b1 e73c38cf4cff ec60bf237487 f0776f1d543d f2711ffa2c93
    f7787c59d6d3
""".split()


def digest(site: str) -> str:
    """Return the digest by which a site is named here."""
    return hashlib.sha256(site.encode()).hexdigest()[:12]


def is_test(site: str) -> bool:
    """Return whether a site is in the test part; new sites are split by the same rule."""
    named = digest(site)
    return named in TEST or (named not in DEVELOPMENT and int(named[-1], 16) % 2 == 1)
