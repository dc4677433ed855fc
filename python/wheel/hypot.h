/* The name that hypot had before glibc 2.35. The functions differ in errno alone, and with this
 * name the wheel runs with glibc 2.34, too: that of RHEL 9. scripts/build-wheel includes this into
 * each source. */
#if defined(__x86_64__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver hypot, hypot@GLIBC_2.17");
#endif
