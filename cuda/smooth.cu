/* Smooths the image that the device has: backend/smoothing.h says what each sum is. A thread makes
 * one pixel, sum or sample. */
#include "device.cuh"

enum { THREADS = 256 };

/* The sum of the Gaussians that reach the cell of a pixel, in their order. */
static __device__ double model_at(const smoothing_model &m, int64_t x, int64_t y) {
    const int64_t cell = y / m.side * m.n_x + x / m.side;
    double sum = 0;
    for (int64_t i = m.first[cell]; i < m.first[cell + 1]; i++) {
        const gaussian &g = m.gaussians[m.reaching[i]];
        const gaussian_span span = gaussian_span_at(&g, (double)y);
        if ((double)x >= ceil(span.centre - span.half) &&
            (double)x <= floor(span.centre + span.half))
            sum += gaussian_at(&g, (double)x, (double)y);
    }
    return sum;
}

static __global__ void __launch_bounds__(THREADS) subtract(smooth_band band) {
    const int64_t n = band.n_rows * band.width, step = (int64_t)gridDim.x * THREADS;
    wait_for_earlier();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        const int64_t row = i / band.width, x = i - row * band.width, y = band.first_row + row;
        const float value = pixel_value(band.pixels[y * band.pitch + x], band.swapped);
        const float rest = (float)((double)value - model_at(band.model, x, y));
        band.residual[i] = isfinite(value) && isfinite(rest) ? rest : NAN;
    }
}

static __global__ void __launch_bounds__(THREADS) sum_along_x(smooth_band band) {
    const smoothing &s = band.smoothing;
    const int64_t n = band.n_rows * s.width, step = (int64_t)gridDim.x * THREADS;
    wait_for_earlier();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        const int64_t row = i / s.width;
        const int64_t left = (i - row * s.width) * s.step + s.left;
        const float *const from = band.residual + row * band.width + left;
        const int64_t first = left < 0 ? -left : 0, beyond = band.width - left;
        const int64_t end = beyond < s.n_x ? beyond : s.n_x;
        float sum = 0, weight = 0;
        for (int64_t t = first; t < end; t++) {
            const float value = from[t], k = s.kernel_x[t];
            if (isnan(value))
                continue;
            sum += k * value;
            weight += k;
        }
        band.sums[i] = sum;
        band.weights[i] = weight;
    }
}

/* Whether a pixel is blank, or outside of the image; it is in the band, if it is inside. */
static __device__ bool is_blank_at(const smooth_band &band, int64_t x, int64_t y) {
    return x < 0 || x >= band.width || y < 0 || y >= band.height ||
           isnan(band.residual[(y - band.first_row) * band.width + x]);
}

static __global__ void __launch_bounds__(THREADS) sum_along_y(smooth_band band) {
    const smoothing &s = band.smoothing;
    const int64_t n = band.n * s.width, step = (int64_t)gridDim.x * THREADS;
    unsigned long long n_samples = 0;
    wait_for_earlier();
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < n; k += step) {
        const int64_t row = k / s.width, i = k - row * s.width;
        const int64_t left = i * s.step + s.left, top = (band.first + row) * s.step + s.top;
        const int64_t first = top < 0 ? -top : 0, beyond = band.height - top;
        const int64_t end = beyond < s.n_y ? beyond : s.n_y;
        const int64_t at = (top - band.first_row) * s.width + i;
        float sum = 0, weight = 0;
        for (int64_t t = first; t < end; t++) {
            sum += s.kernel_y[t] * band.sums[at + t * s.width];
            weight += s.kernel_y[t] * band.weights[at + t * s.width];
        }
        const int64_t x_low = left + smoothing_low(s.n_x), x_high = left + smoothing_high(s.n_x),
                      y_low = top + smoothing_low(s.n_y), y_high = top + smoothing_high(s.n_y);
        const bool blank = is_blank_at(band, x_low, y_low) || is_blank_at(band, x_high, y_low) ||
                           is_blank_at(band, x_low, y_high) || is_blank_at(band, x_high, y_high);
        const float sample = blank ? NAN : smoothing_sample(sum, weight);
        band.samples[band.first * s.width + k] = sample;
        n_samples += !isnan(sample);
    }
    n_samples = warp_sum(n_samples);
    if (lane_of_thread() == 0)
        atomicAdd(band.n_samples, n_samples);
}

static int64_t blocks(int64_t n) {
    return (n + THREADS - 1) / THREADS;
}

cudaError_t launch_smooth(const struct smooth_band *band, cudaStream_t stream) {
    cudaError_t code =
        launch_filling(subtract, THREADS, blocks(band->n_rows * band->width), stream, *band);
    if (!code)
        code = launch_filling(sum_along_x, THREADS, blocks(band->n_rows * band->smoothing.width),
                              stream, *band);
    return code ? code
                : launch_filling(sum_along_y, THREADS, blocks(band->n * band->smoothing.width),
                                 stream, *band);
}
